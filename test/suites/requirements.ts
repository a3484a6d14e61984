import { section } from '../requirements/requirement.ts';

export const scores = section('reference/suites.md', [
  ['DS-SCORE-01', 'none', 'An assertion whose score is outside its bounds fails the case.'],
  ['DS-SCORE-02', 'none', 'A guardrail below 1.0 fails where it has no bounds of its own.'],
  ['DS-SCORE-03', 'none', 'A metric is recorded and fails nothing.'],
  ['DS-SCORE-05', 'none', 'unscored is counted and left out of the mean.'],
]);

export const suites = section('reference/suites.md', [
  [
    'DS-SUITE-01',
    'none',
    'One row of the dataset, or one of `cases`, is one request, its members filled by expressions.',
  ],
  ['DS-SUITE-02', 'none', 'An expression alone keeps its type; inside text it is interpolated.'],
  [
    'DS-SUITE-03',
    'none',
    'A gate passes when its metric lies within min and max, inclusive, for its tag if it names one.',
  ],
  ['DS-SUITE-04', 'none', 'Without gates a suite fails when any assertion or guardrail failed.'],
  [
    'DS-SUITE-05',
    'none',
    'eval run --json prints run_id, suite, status, cases, evals with tags, gates and duration_ms.',
  ],
  [
    'DS-SUITE-06',
    'none',
    'A row that cannot be used is told with file and line, counted, and makes the status error.',
  ],
  ['DS-SUITE-07', 'none', 'eval run exits 0 when the suite passed and 1 when it failed.'],
]);

export const severalSuites = section('guides/run-several-suites.md', [
  [
    'DS-SEVERAL-01',
    'none',
    'A folder stands for the files of kind EvalSuite in it; one without is an error.',
  ],
  ['DS-SEVERAL-02', 'none', 'Two suites of one name are refused before anything runs.'],
  ['DS-SEVERAL-03', 'none', 'A suite that cannot be run is told and counted, and the others run.'],
  ['DS-SEVERAL-04', 'none', 'Each reporter writes one report of all suites.'],
  ['DS-SEVERAL-05', 'none', 'Suites of the same config share one runtime.'],
  ['DS-SEVERAL-06', 'none', 'Ctrl-C ends all suites.'],
  [
    'DS-SEVERAL-07',
    'none',
    '--watch runs again when a file of a suite changes, also while it runs, and waits where one is broken.',
  ],
]);

export const matrix = section('guides/compare-models.md', [
  ['DS-MATRIX-01', 'none', 'Every row is a case of each variant, row by row, in the order of the suite.'],
  ['DS-MATRIX-02', 'none', 'Each variant has statistics, tokens, cost and time of its own.'],
  ['DS-MATRIX-03', 'none', 'What goes wrong in one variant counts for no other.'],
  ['DS-MATRIX-04', 'none', 'A gate holds for each variant, or for those that it names.'],
  [
    'DS-MATRIX-05',
    'none',
    'better_than is only kept by a difference that a paired test finds significant, over six pairs at least.',
  ],
  ['DS-MATRIX-06', 'none', 'Cases without a result of both variants cannot make one better.'],
  ['DS-MATRIX-07', 'none', 'A run that was cut off is resumed in the variant that it had come to.'],
  ['DS-MATRIX-08', 'none', 'Every report names the variant of a case.'],
  ['DS-MATRIX-09', 'none', '--provider asks other providers, and refuses gates of variants that it lacks.'],
  ['DS-MATRIX-10', 'none', 'A rating of a matrix names the variant, and is of that one alone.'],
]);

export const suiteCosts = section('guides/limit-costs.md', [
  [
    'DS-COST-01',
    'none',
    'A call that does not fit into the budget, with those under way, waits; once it is spent none is made.',
  ],
  ['DS-COST-02', 'none', 'A provider without prices is refused before the first call.'],
  [
    'DS-COST-03',
    'none',
    'Cases that were not judged are told, the run is invalid, and --resume goes on with a higher amount.',
  ],
  ['DS-COST-04', 'none', 'A case may cost so much; what needed more is unscored.'],
  [
    'DS-COST-05',
    'none',
    'Another provider, model, parameter, message or epoch is another entry of the cache.',
  ],
  [
    'DS-COST-06',
    'none',
    'Errors, denials of the provider, cut streams and answers with secrets are never kept.',
  ],
  ['DS-COST-07', 'none', 'Guards judge an answer of the cache as they judge a new one.'],
  [
    'DS-COST-08',
    'none',
    'A damaged entry is told and asked for anew; the oldest go when there are too many bytes.',
  ],
]);

export const agreement = section('guides/check-a-judge.md', [
  ['DS-AGREE-01', 'none', 'Cohen’s kappa, its standard error and its interval are those that are published.'],
  [
    'DS-AGREE-02',
    'none',
    'Only cases with a score and a label count; a word that is no verdict makes the row unusable.',
  ],
  ['DS-AGREE-03', 'none', 'Where there is nothing to measure kappa is null, and a gate over it fails.'],
  ['DS-AGREE-04', 'none', 'Ratings that people gave of a run have the kappa that is published.'],
  ['DS-AGREE-05', 'none', 'Nothing rated, one rating and one verdict only are told as such.'],
  ['DS-AGREE-06', 'none', 'Two people are compared over what both have judged.'],
  ['DS-AGREE-07', 'none', 'Of a matrix people are compared with each variant, and with all together.'],
]);

export const embeddings = section('guides/compare-meanings.md', [
  ['DS-EMBED-01', 'none', 'An API is asked for the vectors of all texts, with its key, in its own form.'],
  ['DS-EMBED-02', 'none', 'Each vector is that of its text, in whatever order they come.'],
  ['DS-EMBED-03', 'none', 'An answer that is not a vector for each text has failed.'],
  ['DS-EMBED-04', 'none', 'Calls are made again as those of any model are.'],
  [
    'DS-EMBED-05',
    'none',
    'Texts that are wanted at once are one request, and none of them fails for another.',
  ],
  ['DS-EMBED-06', 'none', 'A model that embeds does not answer, nor the other way round.'],
  ['DS-EMBED-07', 'none', 'Each text is embedded once in a run.'],
  ['DS-EMBED-08', 'none', 'The cache and recordings answer for an API, whatever is asked together.'],
  ['DS-EMBED-09', 'none', 'Budgets and limits of the rate hold for embeddings.'],
  [
    'DS-EMBED-10',
    'none',
    'Hooks deny what is to be embedded; one that changes it leaves the check unscored, with nothing sent.',
  ],
  ['DS-EMBED-11', 'none', 'All texts of a check have vectors of one model, also of a fallback.'],
  ['DS-EMBED-12', 'none', 'A fault is unscored, and passes no threshold.'],
  ['DS-EMBED-13', 'none', 'A tool embeds, with its hooks.'],
  ['DS-EMBED-14', 'none', 'Similarity is the cosine, and answer relevance the mean of Ragas.'],
]);

export const view = section('guides/view-runs.md', [
  ['DS-VIEW-01', 'none', 'Only who has the key of this start is shown anything.'],
  ['DS-VIEW-02', 'none', 'It listens on this machine alone, and answers under its names alone.'],
  ['DS-VIEW-03', 'none', 'No page of another server can rate, read or frame.'],
  ['DS-VIEW-04', 'none', 'Texts of cases, models and people are text, and an address is never a file.'],
  ['DS-VIEW-05', 'none', 'A rating is kept as that of `eval rate`, and pages show it from then on.'],
  [
    'DS-VIEW-06',
    'none',
    'Runs are listed newest first, by suite and page by page; runs that go on show what they have.',
  ],
  [
    'DS-VIEW-07',
    'none',
    'A page of any size is sent in bounded memory, and details that it leaves out are had one by one.',
  ],
]);
