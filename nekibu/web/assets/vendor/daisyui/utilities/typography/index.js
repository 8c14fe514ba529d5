import typography from './object.js';
import { addPrefix } from '../../functions/addPrefix.js';

export default ({ addUtilities, prefix = '' }) => {
  const prefixedtypography = addPrefix(typography, prefix);
  addUtilities({ ...prefixedtypography });
};
