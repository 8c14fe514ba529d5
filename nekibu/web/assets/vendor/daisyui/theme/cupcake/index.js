import cupcake from './object.js';
import { addPrefix } from '../../functions/addPrefix.js';

export default ({ addBase, prefix = '' }) => {
  const prefixedcupcake = addPrefix(cupcake, prefix);
  addBase({ ...prefixedcupcake });
};
