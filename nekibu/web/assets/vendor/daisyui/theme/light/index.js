import light from './object.js';
import { addPrefix } from '../../functions/addPrefix.js';

export default ({ addBase, prefix = '' }) => {
  const prefixedlight = addPrefix(light, prefix);
  addBase({ ...prefixedlight });
};
