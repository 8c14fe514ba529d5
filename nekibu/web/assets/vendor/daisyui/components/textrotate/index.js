import textrotate from './object.js';
import { addPrefix } from '../../functions/addPrefix.js';

export default ({ addComponents, prefix = '' }) => {
  const prefixedtextrotate = addPrefix(textrotate, prefix);
  addComponents({ ...prefixedtextrotate });
};
