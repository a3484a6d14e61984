import { section } from '../../requirements/requirement.ts';

export const hookOrder = section('promptkit.md §6.4', [
  [
    'PK-6-51',
    'both',
    'A denial before_execution: no process starts, the model reads `Tool "x" was blocked by hook "h": reason`.',
  ],
  [
    'PK-6-52',
    'both',
    'A denial after_execution withholds the result from caller and model, in the same words.',
  ],
  ['PK-6-53', 'both', 'A session hook is told of start, update and end; its reply is not read.'],
  [
    'PK-6-54',
    'both',
    'An eval hook is told of every eval that was scored or could not be; the eval does not wait.',
  ],
  ['PK-6-55', 'none', 'Without `phases` a hook has every phase of its kind.'],
  ['PK-6-56', 'none', 'Without `mode` provider and tool hooks filter, session and eval hooks observe.'],
  [
    'PK-6-57',
    'both',
    'An observer that hangs, crashes or denies delays and changes nothing, and is logged at warn.',
  ],
  ['PK-6-58', 'oneshot', 'Filters run in the order of the file.'],
  [
    'PK-6-59',
    'oneshot',
    'The first answer that is neither allow nor modify ends the chain, and its hook is named.',
  ],
  ['PK-6-60', 'oneshot', 'Each hook’s metadata goes to the event log, that of an allow too.'],
  ['PK-6-61', 'oneshot', 'After a denial the caller has the deciding hook’s metadata.'],
  [
    'PK-6-62',
    'oneshot',
    'After allows and modifies the caller has all metadata merged in order, later keys winning.',
  ],
]);

export const hookDesign = section('guides/write-hooks.md', [
  ['DS-HOOK-01', 'both', 'A shadow is asked, its verdict is recorded, and nobody waits for it or obeys it.'],
  ['DS-HOOK-02', 'oneshot', 'What one filter replaced is what the next filter sees.'],
  [
    'DS-HOOK-03',
    'both',
    'An observer is told its events one after another, in the order in which they happened.',
  ],
  ['DS-HOOK-04', 'oneshot', 'An observer’s queue is bounded, and what is dropped from it is told.'],
  [
    'DS-HOOK-06',
    'both',
    'Filters with `modifies: false` that stand together are asked at once, about the same payload.',
  ],
  ['DS-HOOK-05', 'both', 'close() waits for what observers are still owed, up to their timeout.'],
  ['DS-HOOK-14', 'none', 'A native hook with `url` is posted what a process would read, with its headers.'],
  ['DS-HOOK-10', 'none', 'No process starts for an event that the `match` of a hook leaves out.'],
  ['DS-HOOK-11', 'none', 'Where a `match` cannot be told, the hook hears of the event.'],
  [
    'DS-HOOK-12',
    'none',
    'A `match` that says what its kind of hook has not, or does not compile, is an error.',
  ],
]);

export const hookDetails = section('reference/hooks.md', [
  [
    'DS-HOOK-07',
    'both',
    'Of filters that are asked at once the first in the file that does not allow decides, as if they were asked in turn.',
  ],
  [
    'DS-HOOK-08',
    'both',
    'A question to a filter behind one that has decided is withdrawn, which is no failure of it.',
  ],
  ['DS-HOOK-09', 'both', 'A filter with `modifies: false` that answers with `replace` denies.'],
  [
    'DS-HOOK-15',
    'none',
    'A filter over HTTP denies for anything but status 200 and one JSON answer, in time and trusted.',
  ],
  ['DS-HOOK-16', 'none', 'An observer over HTTP holds nobody.'],
  ['DS-HOOK-17', 'none', 'An endpoint that cannot be is an error of the config, in its place.'],
]);
