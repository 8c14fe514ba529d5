import calendar from './object.js';
import { addPrefix } from '../../functions/addPrefix.js';

export default ({ addComponents, prefix = '' }) => {
  const prefixedcalendar = addPrefix(calendar, prefix);
  addComponents({ ...prefixedcalendar });
};
