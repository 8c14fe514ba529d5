import forest from './object.js';
import { addPrefix } from '../../functions/addPrefix.js';

export default ({ addBase, prefix = '' }) => {
  const prefixedforest = addPrefix(forest, prefix);
  addBase({ ...prefixedforest });
};
