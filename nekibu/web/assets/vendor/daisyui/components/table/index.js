import table from './object.js';
import { addPrefix } from '../../functions/addPrefix.js';

export default ({ addComponents, prefix = '' }) => {
  const prefixedtable = addPrefix(table, prefix);
  addComponents({ ...prefixedtable });
};
