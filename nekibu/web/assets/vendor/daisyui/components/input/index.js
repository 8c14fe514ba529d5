import input from './object.js';
import { addPrefix } from '../../functions/addPrefix.js';

export default ({ addComponents, prefix = '' }) => {
  const prefixedinput = addPrefix(input, prefix);
  addComponents({ ...prefixedinput });
};
