import coffee from './object.js';
import { addPrefix } from '../../functions/addPrefix.js';

export default ({ addBase, prefix = '' }) => {
  const prefixedcoffee = addPrefix(coffee, prefix);
  addBase({ ...prefixedcoffee });
};
