/** A fault in the text of a field. The message says the expected form; the cause is the field, where it is known. */
export class FieldFault extends Error {}
