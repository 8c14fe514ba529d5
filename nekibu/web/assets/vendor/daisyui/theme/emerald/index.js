import emerald from './object.js';
import { addPrefix } from '../../functions/addPrefix.js';

export default ({ addBase, prefix = '' }) => {
  const prefixedemerald = addPrefix(emerald, prefix);
  addBase({ ...prefixedemerald });
};
