import badge from './object.js';
import { addPrefix } from '../../functions/addPrefix.js';

export default ({ addComponents, prefix = '' }) => {
  const prefixedbadge = addPrefix(badge, prefix);
  addComponents({ ...prefixedbadge });
};
