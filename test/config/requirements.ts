import { section } from '../requirements/requirement.ts';

export const loading = section('promptkit.md §9', [
  [
    'PK-9-01',
    'none',
    'All problems of a file are told at once, each as FILE:LINE:COL, with a hint where one helps.',
  ],
  ['PK-9-02', 'none', 'Merge keys work, and a JSON file loads.'],
  ['PK-9-03', 'none', 'Variables in a v1alpha1 file are not expanded.'],
  ['PK-9-04', 'none', 'A v1alpha1 file with every key of PromptKit loads without an error.'],
  ['PK-9-05', 'none', 'Problems are worded as PromptKit words them, without its prefix.'],
]);

export const byVersion = section('promptkit.md §9', [
  ['PK-9-06', 'none', 'Unknown key: an error that names the nearest key in signalbox/v1.'],
  ['PK-9-07', 'none', 'Unknown key: a warning, and the key is ignored, in v1alpha1.'],
  ['PK-9-08', 'none', 'The keys of Signalbox itself are known in both versions.'],
  ['PK-9-09', 'none', '`phases` empty, unknown or another hook’s: an error in signalbox/v1.'],
  ['PK-9-10', 'none', '`phases` empty, unknown or another hook’s: a warning and every phase in v1alpha1.'],
  ['PK-9-11', 'none', '`mode` other than filter, observe, shadow: an error in signalbox/v1.'],
  ['PK-9-12', 'none', '`mode` other than filter, observe, shadow: a warning and filter in v1alpha1.'],
  ['PK-9-13', 'none', '`mode: filter` on a session or eval hook: an error that says why in signalbox/v1.'],
  ['PK-9-14', 'none', '`mode: filter` on a session or eval hook: a warning and observe in v1alpha1.'],
  [
    'PK-9-15',
    'none',
    '`runtime` other than exec, server: an error in signalbox/v1, a warning and exec in v1alpha1.',
  ],
  ['PK-9-16', 'none', '`timeout_ms` at or below 0, or fractional: an error in signalbox/v1.'],
  [
    'PK-9-17',
    'none',
    '`timeout_ms` in v1alpha1: at or below 0 warns and is the default, a fraction is rounded down.',
  ],
  [
    'PK-9-18',
    'none',
    '`exec.command` empty: an error in signalbox/v1; in v1alpha1 a warning, calls fail PROCESS_START.',
  ],
  ['PK-9-19', 'none', 'A second YAML document: an error in signalbox/v1, a warning and ignored in v1alpha1.'],
  [
    'PK-9-20',
    'none',
    'Two providers with one id: an error in signalbox/v1; in v1alpha1 a warning, the first counts.',
  ],
  ['PK-9-21', 'none', 'A tool’s or eval’s `sandbox` not declared: an error in signalbox/v1.'],
  [
    'PK-9-22',
    'none',
    'A tool’s or eval’s `sandbox` not declared: a warning in v1alpha1, and the entry never starts.',
  ],
]);

export const inBothVersions = section('promptkit.md §9', [
  ['PK-9-23', 'none', 'A wrong apiVersion or kind is an error.'],
  ['PK-9-24', 'none', 'A null hook or eval entry is an error, not a crash.'],
  ['PK-9-25', 'none', 'A duplicate key is an error.'],
  [
    'PK-9-26',
    'none',
    'A hook or eval without command, a hook without `hook` or with another kind, is an error.',
  ],
  ['PK-9-27', 'none', 'A provider without type or model is an error.'],
  ['PK-9-28', 'none', 'A hook’s sandbox, or a selector named by an entry, that is not declared is an error.'],
  [
    'PK-9-29',
    'none',
    '`timeout_ms: "5s"`, a scalar where a list belongs and a mapping for `env` are errors.',
  ],
  ['PK-9-30', 'none', 'Numbers and booleans in `args` and `env` are their source text.'],
  ['PK-9-31', 'none', 'A null tool, sandbox or selector entry is an empty one.'],
  ['PK-9-32', 'none', 'A file without `spec` is legal.'],
]);

export const keys = section('promptkit.md §9', [
  ['PK-9-33', 'none', '`metadata` is accepted; its name stands in the log.'],
  ['PK-9-34', 'none', 'Providers are accepted; keys of theirs without effect warn.'],
  ['PK-9-35', 'none', 'A tool without `exec` is listed and warned of; a call fails TOOL_NOT_RUNNABLE.'],
  ['PK-9-36', 'none', 'A tool’s own `timeout_ms` is the default of its `exec`.'],
  ['PK-9-37', 'none', '`runtime`, `timeout_ms` and `sandbox` have effect on tools, evals and hooks alike.'],
  ['PK-9-38', 'none', 'A sandbox with `mode: direct` is used as if none were named.'],
  [
    'PK-9-39',
    'oneshot',
    'An entry whose sandbox has another mode never starts: tool failed, eval unscored, filter denies.',
  ],
  ['PK-9-40', 'none', 'A section without effect is accepted unchecked, with one warning.'],
  ['PK-9-41', 'none', '`logging` sets level, format and common fields; `modules` warns.'],
]);

export const nativeKeys = section('reference/config.md', [
  ['DS-KEYS-01', 'both', '`cwd` on an entry is its folder, relative to the config file’s.'],
  ['DS-KEYS-02', 'oneshot', '`grace_ms` is the time between SIGTERM and SIGKILL.'],
  ['DS-KEYS-04', 'server', '`instances` is the number of processes of one server entry.'],
  ['DS-KEYS-05', 'server', '`warm` starts a server when the runtime opens.'],
  ['DS-KEYS-06', 'none', '`spec.defaults` holds where an entry says nothing, and an entry wins over it.'],
]);

export const environment = section('guides/configure-environments.md', [
  [
    'DS-ENV-01',
    'none',
    '`${env:NAME}` and `${env:NAME:-default}` are filled into values of a signalbox/v1 RuntimeConfig.',
  ],
  ['DS-ENV-02', 'none', 'A value that must be a number or a boolean becomes one; any other is text.'],
  [
    'DS-ENV-03',
    'none',
    'A variable that is not set, without a default, is an error in its place, with the next step.',
  ],
  ['DS-ENV-04', 'none', 'What a variable holds is never filled in or evaluated again.'],
  [
    'DS-ENV-05',
    'none',
    'Code of other programs, settings of other systems’ hooks and JSON Schemas are left as they stand.',
  ],
  ['DS-ENV-06', 'none', 'In expressions and commands with placeholders a reference is an error.'],
  ['DS-ENV-07', 'none', 'What a variable holds stands in no problem of the file.'],
  [
    'DS-ENV-08',
    'none',
    'What a variable holds is a secret wherever Signalbox shows something, unless `public_env` names it.',
  ],
  ['DS-ENV-09', 'none', 'Variables of `env_file` count where the environment has none of the name.'],
  ['DS-ENV-10', 'none', 'An `env_file` that cannot be read is an error.'],
  [
    'DS-OVERLAY-01',
    'none',
    'Of several config files the later wins, key by key, and provider by provider by their ids.',
  ],
  [
    'DS-OVERLAY-02',
    'none',
    'In a later file null takes a key away, and new entries stand behind those of the first.',
  ],
  [
    'DS-OVERLAY-03',
    'none',
    'Each problem of several config files is told at the file and line that it comes from.',
  ],
  ['DS-OVERLAY-04', 'none', 'Where each value comes from is told without the value.'],
]);
