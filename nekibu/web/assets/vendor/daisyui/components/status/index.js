import status from './object.js';
import { addPrefix } from '../../functions/addPrefix.js';

export default ({ addComponents, prefix = '' }) => {
  const prefixedstatus = addPrefix(status, prefix);
  addComponents({ ...prefixedstatus });
};
