/** The name of a person or a chat, with a note below. */
export const CardText = ({ name, note }: { readonly name: string; readonly note: string }) => (
  <span class="card-text">
    <bdi class="file-name">{name}</bdi>
    <small>{note}</small>
  </span>
)
