import garden from './object.js';
import { addPrefix } from '../../functions/addPrefix.js';

export default ({ addBase, prefix = '' }) => {
  const prefixedgarden = addPrefix(garden, prefix);
  addBase({ ...prefixedgarden });
};
