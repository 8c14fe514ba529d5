import pastel from './object.js';
import { addPrefix } from '../../functions/addPrefix.js';

export default ({ addBase, prefix = '' }) => {
  const prefixedpastel = addPrefix(pastel, prefix);
  addBase({ ...prefixedpastel });
};
