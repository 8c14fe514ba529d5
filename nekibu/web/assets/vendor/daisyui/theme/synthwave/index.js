import synthwave from './object.js';
import { addPrefix } from '../../functions/addPrefix.js';

export default ({ addBase, prefix = '' }) => {
  const prefixedsynthwave = addPrefix(synthwave, prefix);
  addBase({ ...prefixedsynthwave });
};
