import lemonade from './object.js';
import { addPrefix } from '../../functions/addPrefix.js';

export default ({ addBase, prefix = '' }) => {
  const prefixedlemonade = addPrefix(lemonade, prefix);
  addBase({ ...prefixedlemonade });
};
