variable "region" {
  description = "Region of everything here."
  type        = string
  default     = "eu-central-1"
}

variable "name" {
  description = "Prefix of all names."
  type        = string
  default     = "croupier"
}

variable "vpc_id" {
  description = "The network that has the private subnets."
  type        = string
}

variable "private_subnet_ids" {
  description = "Private subnets in at least two zones, without a route to the internet."
  type        = list(string)
}

variable "proxy_security_group_id" {
  description = "Security group of the proxy that terminates TLS."
  type        = string
}

variable "analyzer_account_id" {
  description = "Account of the analyzer's operator, which may read what is released. It must be another one."
  type        = string
}

variable "database_class" {
  description = "Instance class of PostgreSQL."
  type        = string
  default     = "db.m7g.large"
}

variable "database_gigabytes" {
  description = "Storage of PostgreSQL: 277 bytes per envelope, twice the largest batch, and the log."
  type        = number
  default     = 50
}
