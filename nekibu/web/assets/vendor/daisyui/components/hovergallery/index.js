import hovergallery from './object.js';
import { addPrefix } from '../../functions/addPrefix.js';

export default ({ addComponents, prefix = '' }) => {
  const prefixedhovergallery = addPrefix(hovergallery, prefix);
  addComponents({ ...prefixedhovergallery });
};
