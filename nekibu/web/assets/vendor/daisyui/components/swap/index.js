import swap from './object.js';
import { addPrefix } from '../../functions/addPrefix.js';

export default ({ addComponents, prefix = '' }) => {
  const prefixedswap = addPrefix(swap, prefix);
  addComponents({ ...prefixedswap });
};
