import dim from './object.js';
import { addPrefix } from '../../functions/addPrefix.js';

export default ({ addBase, prefix = '' }) => {
  const prefixeddim = addPrefix(dim, prefix);
  addBase({ ...prefixeddim });
};
