import { section } from '../requirements/requirement.ts';

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
    'The environment is PATH HOME LANG LC_* TZ TMPDIR USER, what `env` names, and SIGNALBOX_OWNER, nothing else.',
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
  ['PK-2-27', 'both', 'A reply over the entry’s max_output_bytes is OUTPUT_LIMIT, never a shortened reply.'],
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

export const processDesign = section('reference/processes.md', [
  ['DS-PROC-01', 'both', 'Every process leads a process group of its own.'],
  ['DS-PROC-02', 'both', 'A child may open /dev/stdin by name, late as well, and reads its request there.'],
  ['DS-PROC-03', 'both', 'A child may open /dev/stdout by name, twice too, and no text is lost.'],
  ['DS-PROC-04', 'both', 'A child may open /dev/stderr by name.'],
  ['DS-PROC-05', 'oneshot', 'A grandchild in a session of its own (setsid) is not killed.'],
  ['DS-PROC-06', 'both', '`spec.concurrency` bounds the exchanges that run at once over all entries.'],
  ['DS-PROC-07', 'none', 'Without `spec.concurrency` the bound is the number of cores.'],
  [
    'DS-PROC-08',
    'both',
    '`concurrency` on an entry bounds its exchanges: with 1 the next request follows the last answer.',
  ],
  [
    'DS-PROC-09',
    'oneshot',
    'A slot covers one exchange: with one slot a chain of several hooks still comes to an end.',
  ],
  ['DS-PROC-10', 'both', 'A caller that gives up has ABORTED at once, and a one-shot process is ended.'],
]);

export const warmProcesses = section('reference/processes.md', [
  [
    'DS-WARM-01',
    'oneshot',
    'With `warm: N` a call is served by a process that waits; it serves that one request, and another takes its place.',
  ],
  [
    'DS-WARM-02',
    'oneshot',
    'A process that waits is not used once its program, a script among its arguments or a file in their folders has changed.',
  ],
  [
    'DS-WARM-03',
    'oneshot',
    'One that ends while it waits fails no call; a request that it may have read is never given to another.',
  ],
  ['DS-WARM-04', 'oneshot', 'One that waits goes when it is old, and while memory is short.'],
  [
    'DS-WARM-05',
    'oneshot',
    'What waits is killed with its group on close, without an end of stdin, and when the owner is killed.',
  ],
  ['DS-WARM-06', 'oneshot', '`warm` as a number starts processes when the runtime opens.'],
]);

/** Resource limits on a process and its descendants. */
export const processLimits = section('reference/processes.md', [
  [
    'DS-LIM-01',
    'none',
    'A process that reaches one of its limits is stopped: LIMIT_EXCEEDED, which names the limit.',
  ],
  ['DS-LIM-02', 'none', 'What a process starts is held with it, in a session of its own too.'],
  ['DS-LIM-03', 'none', 'One that copes with what it is refused, and answers, is answered.'],
  [
    'DS-LIM-04',
    'server',
    'Requests in flight of a server that reaches a limit get LIMIT_EXCEEDED, and it is started again.',
  ],
  ['DS-LIM-05', 'none', 'Limits hold without control groups too.'],
  ['DS-LIM-06', 'none', 'Arguments and environment of a limited process are those of any.'],
  ['DS-LIM-07', 'none', 'Python, Node and a shell run under memory_mb: 512.'],
  ['DS-LIM-08', 'none', 'A filter that reached a limit denies, in every dialect.'],
  [
    'DS-LIM-09',
    'none',
    'Control groups are removed with their processes, those of a killed Signalbox by the next.',
  ],
  ['DS-LIM-10', 'none', 'An entry’s members win over those of spec.defaults one by one.'],
  ['DS-LIM-11', 'none', 'What is no limit is an error at load, in PromptKit’s files too.'],
  ['DS-LIM-12', 'oneshot', 'Requests wait in turn for room in in_flight_mb, and none is lost.'],
  ['DS-LIM-13', 'oneshot', 'Outputs that find no room wait, and their time stands still.'],
]);

export const forkedProcesses = section('reference/processes.md', [
  [
    'DS-FORK-01',
    'oneshot',
    'A forked Python script leaves the same reply, exit, signal and stderr as one that was started.',
  ],
  [
    'DS-FORK-02',
    'oneshot',
    'One process that has imported what the script imports forks for each call, until the script’s files change; its death fails only what is under way.',
  ],
  ['DS-FORK-03', 'oneshot', 'Timeout, output limit, leftovers and closing hold for forked processes.'],
  ['DS-FORK-04', 'oneshot', 'What cannot be forked says why, once, and runs as one-shot.'],
  ['DS-FORK-05', 'oneshot', 'Nothing forked outlives a SIGKILL of its owner, or of the process that forks.'],
  ['DS-FORK-06', 'oneshot', 'Under load, several processes fork, and none fails the calls of another.'],
]);

export const orphans = section('reference/processes.md', [
  [
    'DS-ORPHAN-01',
    'oneshot',
    'What a killed Signalbox and its watcher left of calls is ended by the next start, daemons in sessions of their own included.',
  ],
  [
    'DS-ORPHAN-02',
    'oneshot',
    'With `leftovers: keep`, and where no call was under way, what finished calls left running stays.',
  ],
  [
    'DS-ORPHAN-03',
    'oneshot',
    'A sweep touches no process of a living owner, of another user, machine or start of the system; killed or twice at once it does no harm.',
  ],
]);

export const serverRequests = section('promptkit.md §5', [
  ['PK-5-01', 'server', 'A request is one line: jsonrpc "2.0", an id, method "execute", params.'],
  ['PK-5-02', 'server', '`params` is exactly what one-shot mode writes on stdin, for tool, eval and hook.'],
  ['PK-5-03', 'server', '`result` of an eval or a hook is exactly what it would print in one-shot mode.'],
  ['PK-5-04', 'server', '`result` of a tool is the bare value.'],
  ['PK-5-05', 'server', 'An observer gets a request with an id, and its reply is not read.'],
  ['PK-5-06', 'server', 'There is no greeting: the first line is the first request.'],
  ['PK-5-07', 'server', 'Entries never share a process, not even with the same command.'],
  ['PK-5-08', 'server', 'A server starts on first use, and simultaneous first calls start one process.'],
  ['PK-5-09', 'server', 'ids are integers from 1 in each process and never reused in it.'],
  ['PK-5-10', 'server', 'Many requests are in flight at once, and answers in any order find their callers.'],
]);

/** The meaning of a line on a server's stdout. */
export const serverLines = section('promptkit.md §5', [
  ['PK-5-12', 'server', 'A line that is not JSON, blank, or a bare scalar is noise: logged, without effect.'],
  ['PK-5-13', 'server', 'CRLF, a last line without newline and a byte order mark at the start are fine.'],
  ['PK-5-14', 'server', 'A line that is not UTF-8 fails the request whose id it shows: REPLY_MALFORMED.'],
  ['PK-5-15', 'server', 'A line that is not UTF-8 and shows no id in flight is noise.'],
  ['PK-5-16', 'server', 'An object with `method` and neither result nor error is ignored and logged.'],
  [
    'PK-5-17',
    'server',
    'A batch fails every request in flight that one of its elements names: REPLY_MALFORMED.',
  ],
  ['PK-5-18', 'server', 'A batch that names nothing in flight is noise.'],
  ['PK-5-19', 'server', 'The id 1.0 answers request 1.'],
  [
    'PK-5-20',
    'server',
    'An id "1" or a fraction that spells a request in flight fails it; the hint asks for the number.',
  ],
  ['PK-5-21', 'server', 'A reply without id fails the only request in flight, if none timed out unanswered.'],
  ['PK-5-22', 'server', 'A reply without id is otherwise dropped and logged.'],
  ['PK-5-23', 'server', 'The late reply of a timed-out request is dropped and disturbs no later call.'],
  ['PK-5-24', 'server', 'A second reply to an answered request is dropped.'],
  ['PK-5-25', 'server', 'A reply to an id that never existed is dropped with a warning.'],
  ['PK-5-26', 'server', 'A line over the limit is skipped, its request is OUTPUT_LIMIT, and others go on.'],
  [
    'PK-5-27',
    'server',
    'A line over the limit that shows no id in its first 4 KiB is OUTPUT_LIMIT for all in flight.',
  ],
  ['PK-5-28', 'server', 'An error object is TOOL_ERROR with its message, and wins over a result.'],
  ['PK-5-29', 'server', 'details.rpc keeps `code`, `message` and `data` of an error object.'],
  ['PK-5-30', 'server', 'An error that is null counts as absent.'],
  ['PK-5-31', 'server', 'An error of another type is REPLY_MALFORMED with its text kept.'],
  ['PK-5-32', 'server', 'A reply with neither result nor error is REPLY_MALFORMED.'],
  ['PK-5-33', 'server', 'A result whose only key is `pending` with an object is pending.'],
  ['PK-5-34', 'server', 'Any other result is data, also {"result": …}, {"error": …} and {"pending": null}.'],
  ['PK-5-35', 'server', 'A reply without jsonrpc "2.0" is accepted, with one warning per process.'],
]);

export const serverLife = section('promptkit.md §5', [
  ['PK-5-36', 'server', 'A timeout forgets the request; the same process answers the next one.'],
  ['PK-5-37', 'server', 'If noise came while a call timed out, the hint says so.'],
  [
    'PK-5-38',
    'server',
    'A timed-out request that was not begun is never sent; a half-sent line is finished.',
  ],
  ['PK-5-39', 'server', 'The deadline holds while a server does not read its stdin.'],
  ['PK-5-40', 'server', 'More than max_output_bytes unsent is SERVER_BUSY for new calls.'],
  [
    'PK-5-41',
    'server',
    'Death fails what is in flight at once: SERVER_EXIT with code or signal and the last stderr line.',
  ],
  ['PK-5-42', 'server', 'A server that closes stdout and lives is SERVER_EXIT, and its group is killed.'],
  ['PK-5-43', 'server', 'A request that was in flight is never sent again.'],
  ['PK-5-44', 'server', 'After a first death the next call starts the server at once.'],
  ['PK-5-45', 'server', 'After further deaths a start waits 100 ms, doubling up to 5 s.'],
  ['PK-5-46', 'server', 'Callers wait for a restart inside their own timeout.'],
  [
    'PK-5-47',
    'server',
    'Five deaths without a good reply open the circuit: SERVER_CIRCUIT_OPEN at once, for 30 s.',
  ],
  [
    'PK-5-48',
    'server',
    'After the pause one call tries; its good reply closes the circuit, its death opens it again.',
  ],
  ['PK-5-49', 'server', 'A good reply resets the count of deaths.'],
  ['PK-5-50', 'server', 'A failed start counts as a death.'],
  ['PK-5-51', 'server', 'Closing ends stdin, and a server that then exits gets no signal.'],
  ['PK-5-52', 'server', 'A server that ignores the end of stdin gets SIGTERM, then SIGKILL, with its group.'],
  ['PK-5-53', 'server', 'A non-zero exit after the end of stdin is logged and is no error.'],
]);

export const sandboxes = section('reference/sandboxes.md', [
  [
    'DS-BOX-01',
    'both',
    'Without `network: true` nothing is reached by network, this machine’s loopback included.',
  ],
  [
    'DS-BOX-02',
    'oneshot',
    'Writes end at what `write` lists; all else is read-only or gone with the process.',
  ],
  ['DS-BOX-03', 'oneshot', 'State, keys, home folders and what is not listed cannot be read.'],
  [
    'DS-BOX-04',
    'oneshot',
    'Other processes are neither seen nor reached, and there are no privileges to be had.',
  ],
  [
    'DS-BOX-05',
    'oneshot',
    'All that was started inside ends with the call, daemons included, also when Signalbox is killed.',
  ],
  [
    'DS-BOX-06',
    'oneshot',
    'Streams, exit codes, signals, time limits and the grace are as without a sandbox.',
  ],
  [
    'DS-BOX-07',
    'none',
    'A sandbox that an entry names and that cannot be had is an error of the file; one that nothing names is not.',
  ],
  [
    'DS-BOX-08',
    'oneshot',
    'Where a sandbox fails, nothing is run: tools fail, evals are unscored, filters of every dialect deny.',
  ],
  [
    'DS-BOX-09',
    'oneshot',
    'A failure whose last words say what was kept away has a hint that names the key, and details.sandbox.',
  ],
  [
    'DS-BOX-10',
    'oneshot',
    'Through a client of containers the variables of `env` go along, no others, and no value stands on a command line.',
  ],
  ['DS-BOX-11', 'oneshot', 'What runs in a container ends with its call, also when its client is killed.'],
]);
