import abyss from './object.js';
import { addPrefix } from '../../functions/addPrefix.js';

export default ({ addBase, prefix = '' }) => {
  const prefixedabyss = addPrefix(abyss, prefix);
  addBase({ ...prefixedabyss });
};
