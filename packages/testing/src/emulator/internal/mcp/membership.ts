import * as declarations from "../control/declarations.ts"
import { acting } from "./fields.ts"
import { ofCall, type Tool } from "./tool.ts"

/** Tools that create people and chats, and change the members of a chat. */
export const membershipTools: ReadonlyArray<Tool> = [
  ofCall("create_person", "Create a person", declarations.createUser, {
    description: "Creates a person who can talk to bots. Returns the user with its user_id.",
    fields: {
      first_name: "First name",
      user_id: "Id of the person. Default: a free id",
      last_name: "Last name. Default: none",
      username: "User name, without @. Default: none",
      description: "Description of the profile. Default: none",
      avatar_url: "URL of the small avatar. Default: none",
      full_avatar_url: "URL of the large avatar. Default: none",
      phone: "Phone number that the person sends when a button requests the contact. Default: none",
      is_private: "Whether other people cannot add the person to chats. Default: false",
      hides_activity: "Whether the person has no last_activity_time. Default: false",
      location: "Location that the person sends when a button requests it. Default: none",
      locale: "Language of the person, such as en. Default: none"
    }
  }),
  ofCall("create_chat", "Create a group, a channel or a dialog", declarations.createChat, {
    description:
      "Creates a chat of persons, with the bot. Returns the chat with its chat_id. A dialog is also created by start and by say.",
    fields: {
      type: "Kind of the chat: chat is a group",
      chat_id: "Id of the chat, negative for groups and channels, positive for dialogs. Default: a free id",
      title: "Title. Default: none",
      members: "Ids of the persons. A dialog has one. Default: none",
      owner_id: "Id of the owner. Default: the first member",
      bot: 'Role of the bot: {"admin":true} has all rights, {"permissions":["write"]} has some, false leaves the bot out. Default: a member without rights',
      is_public: "Whether the chat has a link. Default: false",
      has_comments: "Whether the posts of the channel can be commented on. Default: true",
      allows_forwarding: "Whether the messages of the chat can be forwarded. Default: true"
    }
  }),
  ofCall("list_chats", "List chats", declarations.listChats, {
    description: "Returns all chats as a bot sees them: dialogs, groups and channels."
  }),
  ofCall("join", "Join a chat", declarations.join, {
    description: "A person joins a group or a channel. The bot receives user_added."
  }),
  ofCall("leave", "Leave a chat", declarations.leave, {
    description: "A person leaves a group or a channel. The bot receives user_removed."
  }),
  ofCall("add_member", "Add a person to a chat", declarations.addMember, {
    description: "A person adds another person to a chat. The bot receives user_added.",
    fields: acting
  }),
  ofCall("remove_member", "Remove a person from a chat", declarations.removeMember, {
    description: "A person removes another person from a chat. The bot receives user_removed.",
    destroys: true,
    fields: {
      ...acting,
      block: "Whether the removed person cannot join again. Default: false"
    }
  }),
  ofCall("set_admin", "Change the rights of a person", declarations.setAdmin, {
    description: "A person makes another person an administrator of a chat, or an ordinary member.",
    fields: acting
  }),
  ofCall("add_bot", "Add the bot to a chat", declarations.addBot, {
    description: "A person adds the bot to a group or a channel. The bot receives bot_added.",
    fields: acting
  }),
  ofCall("remove_bot", "Remove the bot from a chat", declarations.removeBot, {
    description: "A person removes the bot from a group or a channel. The bot receives bot_removed.",
    destroys: true,
    fields: acting
  }),
  ofCall("set_bot_admin", "Change the rights of the bot", declarations.setBotAdmin, {
    description: "A person makes the bot an administrator of a chat, or an ordinary member.",
    fields: acting
  })
]
