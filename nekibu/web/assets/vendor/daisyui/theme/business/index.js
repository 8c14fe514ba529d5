import business from './object.js';
import { addPrefix } from '../../functions/addPrefix.js';

export default ({ addBase, prefix = '' }) => {
  const prefixedbusiness = addPrefix(business, prefix);
  addBase({ ...prefixedbusiness });
};
