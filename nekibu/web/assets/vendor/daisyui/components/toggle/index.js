import toggle from './object.js';
import { addPrefix } from '../../functions/addPrefix.js';

export default ({ addComponents, prefix = '' }) => {
  const prefixedtoggle = addPrefix(toggle, prefix);
  addComponents({ ...prefixedtoggle });
};
