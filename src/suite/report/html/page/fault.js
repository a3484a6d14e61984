import { foreign, make } from './dom.js';
import { hasMembers, renderJson } from './json-view.js';

/** @import { Fault } from '../../../../errors.ts' */

/**
 * An error with what to do about it.
 * @param {Fault} fault
 */
export function renderFault({ code, message, hint, details }) {
  return make(
    'div',
    { class: 'fault' },
    make('p', {}, make('code', {}, code), ' ', foreign(message)),
    make('p', { class: 'hint' }, foreign(hint)),
    ...(details !== undefined && hasMembers(details) ? [renderJson(details)] : []),
  );
}
