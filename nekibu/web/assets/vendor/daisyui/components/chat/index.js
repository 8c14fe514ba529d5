import chat from './object.js';
import { addPrefix } from '../../functions/addPrefix.js';

export default ({ addComponents, prefix = '' }) => {
  const prefixedchat = addPrefix(chat, prefix);
  addComponents({ ...prefixedchat });
};
