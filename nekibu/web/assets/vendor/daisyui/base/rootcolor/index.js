import rootcolor from './object.js';
import { addPrefix } from '../../functions/addPrefix.js';

export default ({ addBase, prefix = '' }) => {
  const prefixedrootcolor = addPrefix(rootcolor, prefix);
  addBase({ ...prefixedrootcolor });
};
