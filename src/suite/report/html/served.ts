/** What the page of a run has beside the run where it is served, rather than a file. */
export interface Served {
  /** Where the list of runs is. */
  readonly home: string;
  /** Where the details of a case are asked for that the page leaves out: with `id`, `number` and `variant`. */
  readonly cases: string;
  /** Where ratings are sent; null where the run takes none. */
  readonly ratings: string | null;
  /** Goes with each request, in `Authorization`. */
  readonly token: string;
  /** The name of who rates, until another is given. */
  readonly by: string;
}
