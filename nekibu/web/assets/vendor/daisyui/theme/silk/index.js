import silk from './object.js';
import { addPrefix } from '../../functions/addPrefix.js';

export default ({ addBase, prefix = '' }) => {
  const prefixedsilk = addPrefix(silk, prefix);
  addBase({ ...prefixedsilk });
};
