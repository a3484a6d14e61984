import type { Fault } from '../../../../../errors.ts';
import { foreign, make } from '../dom.ts';
import { hasMembers, renderJson } from './json-view.ts';

/** An error with what to do about it. */
export function renderFault({ code, message, hint, details }: Fault) {
  return make(
    'div',
    { class: 'fault' },
    make('p', {}, make('code', {}, code), ' ', foreign(message)),
    make('p', { class: 'hint' }, foreign(hint)),
    ...(details !== undefined && hasMembers(details) ? [renderJson(details)] : []),
  );
}
