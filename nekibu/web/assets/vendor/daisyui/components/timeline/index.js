import timeline from './object.js';
import { addPrefix } from '../../functions/addPrefix.js';

export default ({ addComponents, prefix = '' }) => {
  const prefixedtimeline = addPrefix(timeline, prefix);
  addComponents({ ...prefixedtimeline });
};
