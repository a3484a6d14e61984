import { section } from './requirement.ts';

/** Which wire an entry speaks, and which of the two transports carries it. */
export const modes = section('promptkit.md §1', [
  ['PK-1-01', 'oneshot', 'An entry without `dialect` is sent snake_case keys, in a v1alpha1 file too.'],
  [
    'PK-1-02',
    'none',
    'validate notes each provider, tool and session hook of a v1alpha1 file that names no dialect.',
  ],
  ['PK-1-03', 'none', 'That note is absent in signalbox/v1, for eval hooks, and where a dialect is named.'],
  ['PK-1-04', 'oneshot', 'Without `runtime` every call is one process with one request.'],
  ['PK-1-05', 'server', 'With `runtime: server` one process answers many calls.'],
]);

/** What both wires share though the payload keys differ. */
export const sharedWires = section(
  'promptkit.md §1',
  [['PK-1-06', 'both', 'Tool requests, replies and the server wire are the same as in promptkit.']],
  'promptkit-go',
);

/** Starting, feeding, bounding and ending one process. */
export const processes = section('promptkit.md §2', [
  [
    'PK-2-01',
    'both',
    'A command with a slash starts from the config file’s folder, wherever the caller stands.',
  ],
  ['PK-2-02', 'both', 'A bare command is looked up on PATH only, never beside the config file.'],
  ['PK-2-03', 'both', 'No shell: spaces, quotes, globs and $VAR in args reach the program as written.'],
  [
    'PK-2-04',
    'both',
    'Two words in `command` are one program name: PROCESS_START, and the hint points to `args`.',
  ],
  ['PK-2-05', 'both', 'A process runs in the config file’s folder.'],
  [
    'PK-2-06',
    'both',
    'The environment is PATH HOME LANG LC_* TZ TMPDIR USER and what `env` names, nothing else.',
  ],
  ['PK-2-07', 'both', 'A name in `env` is forwarded with the host’s value.'],
  ['PK-2-08', 'both', 'NAME=value in `env` sets a literal, which may itself contain =.'],
  ['PK-2-09', 'both', 'A name in `env` that the host lacks is left out and logged.'],
  [
    'PK-2-10',
    'oneshot',
    'stdin is one compact JSON object with nothing escaped beyond need, a newline, and the end.',
  ],
  ['PK-2-11', 'oneshot', 'A child that never reads a large request, or closes stdin early, still answers.'],
  ['PK-2-12', 'both', 'A child that floods stderr before it answers is not held up.'],
  ['PK-2-13', 'both', 'stderr is logged line by line under the entry’s name.'],
  ['PK-2-14', 'both', 'A fault keeps the last 64 KiB of stderr in details.stderr.'],
  ['PK-2-15', 'both', 'A fault’s message carries the last non-empty line of stderr.'],
  ['PK-2-16', 'both', 'That line is cut at 500 characters.'],
  ['PK-2-17', 'oneshot', 'The text for the model has the message and none of the other stderr.'],
  [
    'PK-2-18',
    'oneshot',
    'A non-zero exit is PROCESS_EXIT even beside a good reply; the message names the code.',
  ],
  [
    'PK-2-19',
    'oneshot',
    'Death by a signal is PROCESS_SIGNAL even beside a good reply; the message names the signal.',
  ],
  [
    'PK-2-20',
    'oneshot',
    'A failed process whose stdout is one object with a text `error` lends that text as message.',
  ],
  ['PK-2-21', 'both', 'A call longer than timeout_ms is PROCESS_TIMEOUT.'],
  ['PK-2-22', 'none', 'Default timeouts: tool 30 s, eval 30 s, hook 10 s, eval hook 5 s.'],
  ['PK-2-23', 'both', 'Waiting for a pool slot does not count toward the timeout.'],
  [
    'PK-2-24',
    'oneshot',
    'The caller has its answer at the deadline while a child that ignores SIGTERM is still dying.',
  ],
  ['PK-2-25', 'oneshot', 'At the deadline SIGTERM goes to the process group, so a shell’s child ends too.'],
  [
    'PK-2-26',
    'oneshot',
    'A child that obeys SIGTERM is not killed; one that ignores it gets SIGKILL after the grace.',
  ],
  ['PK-2-27', 'both', 'A reply over max_output_bytes is OUTPUT_LIMIT, never a shortened reply.'],
  ['PK-2-28', 'both', 'A reply of exactly max_output_bytes is read.'],
  ['PK-2-29', 'oneshot', 'A one-shot child over the limit is killed at once.'],
  ['PK-2-30', 'none', 'max_output_bytes is 10 MiB and the grace 2 s where nothing is said.'],
  [
    'PK-2-31',
    'oneshot',
    'The reply is complete at the child’s exit: a grandchild on stdout costs at most the short grace.',
  ],
  [
    'PK-2-32',
    'oneshot',
    'Such a grandchild is no failure: what was read is the reply, for tool, eval and hook.',
  ],
  ['PK-2-33', 'oneshot', 'What is left of the process group is killed after the reply.'],
  ['PK-2-34', 'oneshot', '`leftovers: keep` lets it live.'],
  ['PK-2-35', 'both', 'A missing command is PROCESS_START and the message says so.'],
  ['PK-2-36', 'both', 'A command that is not executable is PROCESS_START and the message says so.'],
  ['PK-2-37', 'both', 'A script without a #! line is PROCESS_START and the message says so.'],
  ['PK-2-38', 'none', 'validate warns of a command that cannot start, and the file still loads.'],
]);

/** What design.md asks of processes beyond the protocol. */
export const processDesign = section('design.md, Processes', [
  ['DS-PROC-01', 'both', 'Every process leads a process group of its own.'],
  ['DS-PROC-02', 'both', 'A child may open /dev/stdin by name, late as well, and reads its request there.'],
  ['DS-PROC-03', 'both', 'A child may open /dev/stdout by name, twice too, and no text is lost.'],
  ['DS-PROC-04', 'both', 'A child may open /dev/stderr by name.'],
  ['DS-PROC-05', 'oneshot', 'A grandchild in a session of its own (setsid) is not killed.'],
  ['DS-PROC-06', 'both', '`spec.concurrency` bounds the exchanges that run at once over all entries.'],
  ['DS-PROC-07', 'none', 'Without `spec.concurrency` the bound is the number of cores.'],
  ['DS-PROC-08', 'both', '`concurrency` on an entry bounds that entry’s exchanges.'],
  [
    'DS-PROC-09',
    'oneshot',
    'A slot covers one exchange: with one slot a chain of several hooks still comes to an end.',
  ],
  ['DS-PROC-10', 'both', 'A caller that gives up has ABORTED at once, and a one-shot process is ended.'],
]);
