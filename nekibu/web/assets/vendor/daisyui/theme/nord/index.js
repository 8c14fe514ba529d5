import nord from './object.js';
import { addPrefix } from '../../functions/addPrefix.js';

export default ({ addBase, prefix = '' }) => {
  const prefixednord = addPrefix(nord, prefix);
  addBase({ ...prefixednord });
};
