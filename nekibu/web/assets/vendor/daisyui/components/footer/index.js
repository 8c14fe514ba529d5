import footer from './object.js';
import { addPrefix } from '../../functions/addPrefix.js';

export default ({ addComponents, prefix = '' }) => {
  const prefixedfooter = addPrefix(footer, prefix);
  addComponents({ ...prefixedfooter });
};
