import acid from './object.js';
import { addPrefix } from '../../functions/addPrefix.js';

export default ({ addBase, prefix = '' }) => {
  const prefixedacid = addPrefix(acid, prefix);
  addBase({ ...prefixedacid });
};
