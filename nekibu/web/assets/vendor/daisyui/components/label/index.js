import label from './object.js';
import { addPrefix } from '../../functions/addPrefix.js';

export default ({ addComponents, prefix = '' }) => {
  const prefixedlabel = addPrefix(label, prefix);
  addComponents({ ...prefixedlabel });
};
