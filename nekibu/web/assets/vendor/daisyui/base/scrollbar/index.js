import scrollbar from './object.js';
import { addPrefix } from '../../functions/addPrefix.js';

export default ({ addBase, prefix = '' }) => {
  const prefixedscrollbar = addPrefix(scrollbar, prefix);
  addBase({ ...prefixedscrollbar });
};
