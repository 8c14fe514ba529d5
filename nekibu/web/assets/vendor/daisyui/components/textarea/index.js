import textarea from './object.js';
import { addPrefix } from '../../functions/addPrefix.js';

export default ({ addComponents, prefix = '' }) => {
  const prefixedtextarea = addPrefix(textarea, prefix);
  addComponents({ ...prefixedtextarea });
};
