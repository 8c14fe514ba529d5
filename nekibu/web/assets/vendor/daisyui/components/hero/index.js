import hero from './object.js';
import { addPrefix } from '../../functions/addPrefix.js';

export default ({ addComponents, prefix = '' }) => {
  const prefixedhero = addPrefix(hero, prefix);
  addComponents({ ...prefixedhero });
};
