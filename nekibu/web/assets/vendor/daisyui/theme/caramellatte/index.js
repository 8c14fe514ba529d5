import caramellatte from './object.js';
import { addPrefix } from '../../functions/addPrefix.js';

export default ({ addBase, prefix = '' }) => {
  const prefixedcaramellatte = addPrefix(caramellatte, prefix);
  addBase({ ...prefixedcaramellatte });
};
