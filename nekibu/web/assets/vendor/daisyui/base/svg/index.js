import svg from './object.js';
import { addPrefix } from '../../functions/addPrefix.js';

export default ({ addBase, prefix = '' }) => {
  const prefixedsvg = addPrefix(svg, prefix);
  addBase({ ...prefixedsvg });
};
