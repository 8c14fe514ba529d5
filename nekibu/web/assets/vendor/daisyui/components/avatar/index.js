import avatar from './object.js';
import { addPrefix } from '../../functions/addPrefix.js';

export default ({ addComponents, prefix = '' }) => {
  const prefixedavatar = addPrefix(avatar, prefix);
  addComponents({ ...prefixedavatar });
};
