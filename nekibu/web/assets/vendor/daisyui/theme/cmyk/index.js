import cmyk from './object.js';
import { addPrefix } from '../../functions/addPrefix.js';

export default ({ addBase, prefix = '' }) => {
  const prefixedcmyk = addPrefix(cmyk, prefix);
  addBase({ ...prefixedcmyk });
};
