/** Keeps the newest `maxKept` rows of a kind. */
export function removeOldest<Id, Row>(
  rows: Map<Id, Row>,
  isOfKind: (row: Row) => boolean,
  maxKept: number,
): void {
  let numTooMany = -maxKept;
  for (const row of rows.values()) if (isOfKind(row)) numTooMany += 1;
  if (numTooMany > 0) removeWhere(rows, (row) => isOfKind(row) && numTooMany-- > 0);
}

export function removeWhere<Id, Row>(rows: Map<Id, Row>, isRemoved: (row: Row) => boolean): void {
  for (const [id, row] of rows) if (isRemoved(row)) rows.delete(id);
}
