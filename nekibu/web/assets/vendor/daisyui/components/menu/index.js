import menu from './object.js';
import { addPrefix } from '../../functions/addPrefix.js';

export default ({ addComponents, prefix = '' }) => {
  const prefixedmenu = addPrefix(menu, prefix);
  addComponents({ ...prefixedmenu });
};
