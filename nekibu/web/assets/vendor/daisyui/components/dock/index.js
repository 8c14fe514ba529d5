import dock from './object.js';
import { addPrefix } from '../../functions/addPrefix.js';

export default ({ addComponents, prefix = '' }) => {
  const prefixeddock = addPrefix(dock, prefix);
  addComponents({ ...prefixeddock });
};
