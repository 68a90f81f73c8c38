import { Submit } from "../parts/Button.tsx"
import { Field, valuesOf } from "../parts/Field.tsx"
import { Modal } from "../parts/Modal.tsx"
import { nameOf, people } from "../store.ts"

interface Props {
  readonly person: number
  readonly onClose: () => void
  readonly onSend: (attachment: unknown) => void
}

const personOf = (user_id: number) => people.value.find(({ user }) => user.user_id === user_id)

const escape = (text: string): string => text.replaceAll(/[\\,;]/g, "\\$&")

/** Sends a contact with a name and a phone number. */
const ContactForm = ({ onClose, onSend, person }: Props) => (
  <Modal title="Send a contact" onClose={onClose}>
    <form
      class="form"
      onSubmit={(event) => {
        const { name = "", phone = "" } = valuesOf(event)
        const lines = ["BEGIN:VCARD", "VERSION:3.0", `FN:${escape(name)}`, `TEL;TYPE=cell:${phone}`, "END:VCARD"]
        onClose()
        onSend({ type: "contact", payload: { vcf_info: lines.join("\r\n") } })
      }}
    >
      <Field label="Name">
        <input name="name" required value={nameOf(person)} />
      </Field>
      <Field label="Phone number">
        <input name="phone" required type="tel" pattern="\+?[0-9]{3,15}" value={personOf(person)?.phone ?? ""} />
      </Field>
      <Submit>Send</Submit>
    </form>
  </Modal>
)

/** Sends a place by its coordinates. */
const PlaceForm = ({ onClose, onSend, person }: Props) => {
  const { latitude, longitude } = personOf(person)?.location ?? { latitude: 0, longitude: 0 }
  return (
    <Modal title="Send a place" onClose={onClose}>
      <form
        class="form"
        onSubmit={(event) => {
          const values = valuesOf(event)
          onClose()
          onSend({
            type: "location",
            latitude: Number(values["latitude"]),
            longitude: Number(values["longitude"])
          })
        }}
      >
        <Field label="Latitude">
          <input name="latitude" required type="number" step="any" min={-90} max={90} value={latitude} />
        </Field>
        <Field label="Longitude">
          <input name="longitude" required type="number" step="any" min={-180} max={180} value={longitude} />
        </Field>
        <Submit>Send</Submit>
      </form>
    </Modal>
  )
}

/** The forms of attachments. */
export const forms = { contact: ContactForm, place: PlaceForm }
