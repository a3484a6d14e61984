/** What happens to the members of one object of a payload, by key; others stay. `each` applies to the elements of an array. */
export interface VolatileFields {
  readonly [key: string]: 'drop' | 'drop run ids' | VolatileFields;
}
