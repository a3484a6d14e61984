import { rowsOf, section } from '../../requirements/requirement.ts';

export const guards = section(
  'reference/guards.md',
  rowsOf`
    DS-GUARDS-01 | none | What is found is replaced, and the rest of a payload stays as it is, in every phase of provider and tool hooks.
    DS-GUARDS-02 | none | A reason and the metadata of a ready guard hold counts, never what was found.
    DS-GUARDS-03 | none | As an eval a ready guard scores 1 where it finds nothing, and at most 0.5 otherwise.
    DS-GUARDS-04 | none | A payload whose shape is not known is refused, so that the hook denies.
    DS-GUARDS-05 | none | Words of the conversation are found in the address of an image, encoded or not.
    DS-GUARDS-06 | none | Addresses that hide their host, or are run or opened by another program, are found.
    DS-GUARDS-07 | none | With a list of hosts every other one is found, and a name that only ends like one is another.
    DS-GUARDS-08 | none | Links are taken out of answers and results, and arguments of tools that hold one are denied.
    DS-GUARDS-09 | both | Every ready guard answers hooks, evals and tools, one-shot and as a server, and denies when it cannot.
    DS-GUARDS-10 | none | A text takes a ready guard time in proportion to its length, whatever it holds.
    DS-GUARDS-11 | none | A judge that does not give one score in time denies, and nothing that it says is repeated.
  `,
);
