import dark from './object.js';
import { addPrefix } from '../../functions/addPrefix.js';

export default ({ addBase, prefix = '' }) => {
  const prefixeddark = addPrefix(dark, prefix);
  addBase({ ...prefixeddark });
};
