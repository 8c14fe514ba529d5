import radius from './object.js';
import { addPrefix } from '../../functions/addPrefix.js';

export default ({ addUtilities, prefix = '' }) => {
  const prefixedradius = addPrefix(radius, prefix);
  addUtilities({ ...prefixedradius });
};
